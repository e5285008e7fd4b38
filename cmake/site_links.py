"""A hook of mkdocs: pages link to sources and examples of the repository, which a site does not
have. Such links become their text; a list stands apart from the paragraph before it, as it does on
the pages of repositories."""
import posixpath
import re

# The text of a link may be a picture.
LINK = re.compile(r"(?<!!)\[((?:!\[[^\]]*\]\([^)]*\)|[^\[\]])*)\]\(([^)\s]+)\)")
LIST_ITEM = re.compile(r"\s*([-*]|\d+\.) ")


def on_page_markdown(markdown, page, config, files):
    folder = posixpath.dirname(page.file.src_uri)

    def keep_or_unlink(match):
        text, target = match.groups()
        path = target.split("#")[0]
        if "://" in target or not path:
            return match.group(0)
        inside = posixpath.normpath(posixpath.join(folder, path))
        return match.group(0) if files.get_file_from_path(inside) else text

    lines, in_code = [], False
    for line in markdown.split("\n"):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            line = LINK.sub(keep_or_unlink, line)
            before = lines[-1] if lines else ""
            if LIST_ITEM.match(line) and before.strip() and not LIST_ITEM.match(before) and not before.startswith(" "):
                lines.append("")
        lines.append(line)
    return "\n".join(lines)
