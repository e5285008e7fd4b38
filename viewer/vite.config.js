// Builds the page as one file: script and style stand in it, and nothing is fetched but data. The
// content security policy allows exactly this script and this style, by their hashes.
import {createHash} from 'node:crypto';
import {defineConfig} from 'vite';

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

function oneFile() {
  return {
    name: 'one-file',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const page = bundle['index.html'];
      let script = '';
      let style = '';
      for (const [name, part] of Object.entries(bundle)) {
        if (name.endsWith('.js')) script += part.code;
        if (name.endsWith('.css')) style += part.source;
        if (part !== page) delete bundle[name];
      }
      // A text that ends the element early would be HTML to the browser.
      script = script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--').trim();
      style = style.trim();
      const policy = [
        "default-src 'none'",
        `script-src ${hash(script)}`,
        // uPlot and three.js set styles of single elements from their scripts, which is not restricted.
        `style-src ${hash(style)}`,
        "connect-src 'self'",
        'img-src data: blob:',
        "base-uri 'none'",
        "form-action 'none'",
      ].join('; ');
      page.source = page.source
        .replace(/<script type="module"[^>]*><\/script>/, '')
        .replace(/<link rel="stylesheet"[^>]*>/, '')
        .replace('<!-- policy -->', () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
        .replace('<!-- style -->', () => `<style>${style}</style>`)
        .replace('<!-- script -->', () => `<script type="module">${script}</script>`);
    },
  };
}

export default defineConfig({
  base: './',
  build: {
    outDir: '../build/viewer',
    emptyOutDir: true,
    target: 'es2022',
    cssCodeSplit: false,
    assetsInlineLimit: 1e8,
    modulePreload: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: {output: {inlineDynamicImports: true}},
  },
  plugins: [oneFile()],
});
