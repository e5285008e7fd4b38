// The list of experiments: a constant table.
#include "stiction/app/experiments/experiments.h"

namespace stiction::experiments {
namespace {

constexpr const char* kGlocker =
    "Glocker & Studer, “Formulation and preparation for numerical "
    "evaluation of linear complementarity systems in dynamics”, 2005";
constexpr const char* kStewart =
    "Stewart & Trinkle, “An implicit time-stepping scheme for rigid body "
    "dynamics with inelastic collisions and Coulomb friction”, 1996";
constexpr const char* kAnitescu =
    "Anitescu & Potra, “A time-stepping method for stiff multibody "
    "dynamics with contact and friction”, 2002";
constexpr const char* kPotra =
    "Potra, Anitescu, Gavrea & Trinkle, “A linearly implicit trapezoidal "
    "method for integrating stiff multibody dynamics with contact, joints, "
    "and friction”, 2006";
constexpr const char* kSpook =
    "Lacoursière & Linde, “SPOOK: a variational time-stepping scheme for "
    "rigid multibody systems subject to dry frictional contacts”, 2011";

std::vector<Experiment> make_list() {
  return {
      {"E1",
       "woodpecker",
       "Woodpecker toy",
       kGlocker,
       "A bird on a spring hammers its way down a pole. Scheme moreau with Lemke's method; data "
       "and "
       "start of Table I, which lies on the discrete cycle of h ≈ 1e-4. The paper prints figures; "
       "the numbers beside ours are the limits of small steps that an independent program found.",
       {"woodpecker"},
       run_woodpecker},
      {"E2",
       "rod-and-table",
       "Falling and spinning rod",
       kStewart,
       "A rod lands on a table in one of Painlevé's configurations. The start at a height of 1 m "
       "is "
       "not printed; it is what gives both printed times. The friction vector has the radius of "
       "the "
       "rod's ends, which the paper leaves out.",
       {"rod-and-table", "rod-capsule"},
       run_rod_and_table},
      {"E3",
       "four-balls",
       "Four balls",
       kStewart,
       "One ball is thrown against three in a row. Readings: g = 9.82, one LCP per step with rows "
       "at "
       "q + hv, eight friction directions from n × e_z on, maximum norms over 24 coordinates, "
       "variation of the largest component.",
       {"four-balls", "four-balls-bodies"},
       run_four_balls},
      {"E4",
       "damped-pair",
       "Two bodies and a damper",
       kAnitescu,
       "Two bodies on a rough table with a damper between them, the left one driven by 20 cos t; "
       "h = 0.05, 10 s.",
       {"damped-pair"},
       run_damped_pair},
      {"E5",
       "two-bars",
       "Two hinged bars",
       kAnitescu,
       "Two bars with a spring and a damper between their centres fall on a table; h = 0.01, 10 s. "
       "The paper prints pictures only. Projection (46) is used, which the paper proposes.",
       {"two-bars"},
       run_two_bars},
      {"E6",
       "double-pendulum-wall",
       "Double pendulum and wall",
       kPotra,
       "Scheme II in Cartesian coordinates with g = 9.8, restitution 0.1 by Poisson's law, "
       "collisions "
       "located within steps; 2.5 s.",
       {"double-pendulum-wall"},
       run_double_pendulum_wall},
      {"E7",
       "cosine-block",
       "Block with stick–slip",
       kPotra,
       "A block under 8 cos t on a rough floor, against its closed form: slide until the velocity "
       "is "
       "zero, stick while the force is below friction.",
       {"cosine-block"},
       run_cosine_block},
      {"E8",
       "two-carts",
       "Two carts and a stopper",
       kPotra,
       "Two carts with a damper between them, one on a spring and before a stopper; trapezoidal-2, "
       "h = 0.01, with growing damping and stiffness.",
       {"two-carts"},
       run_two_carts},
      {"E9",
       "spook-oscillator",
       "SPOOK's oscillator",
       kSpook,
       "The oscillator as a regularised constraint, beside the midpoint rule and implicit Euler, "
       "and "
       "the stability of the constraint recurrence.",
       {"spook-oscillator"},
       run_spook_oscillator},
      {"E9",
       "spook-pendulum",
       "SPOOK's pendulum",
       kSpook,
       "A pendulum on a rigid rod, released horizontally; its period is known.",
       {"spook-pendulum"},
       run_spook_pendulum},
      {"E9",
       "bouncing-ball",
       "SPOOK's impacts",
       kSpook,
       "A ball bounces by the two-stage impact, with restitution from 0 to 1.",
       {"bouncing-ball"},
       run_bouncing_ball},
      {"E9",
       "slider-crank",
       "Degenerate slider-crank",
       kSpook,
       "Crank and rod of equal length: the Jacobian loses rank whenever the crank stands upright.",
       {"slider-crank"},
       run_slider_crank},
      {"E9",
       "whiplash-chain",
       "Chain with a whiplash end",
       kSpook,
       "Twenty links, released horizontally.",
       {"whiplash-chain"},
       run_whiplash_chain},
      {"E10",
       "log-pile",
       "Log pile",
       kSpook,
       "45 logs drop on a slope within guides; spook, h = 1/60, μ = 0.5. The problem of the step "
       "at "
       "0.5 s is given to sweeps and to a solver.",
       {"log-pile"},
       run_log_pile},
      {"E10",
       "brick-wall",
       "Brick walls",
       kSpook,
       "Walls of nearly cubic bricks and of bricks of 4:1, at rest and knocked down by a ball.",
       {"brick-wall", "brick-wall-long"},
       run_brick_wall},
      {"E10",
       "squeezed-box",
       "Squeezed box",
       kSpook,
       "A tall box between two plates, compressed by 0.1 mm and pulled sideways without gravity.",
       {"squeezed-box"},
       run_squeezed_box},
      {"E11",
       "wheel-loader",
       "Wheel loader",
       kSpook,
       "An articulated loader drives to a heap of rocks, scoops, lifts and drives over the rest; "
       "ten "
       "seconds at h = 1/60 by motors with limits.",
       {"wheel-loader"},
       run_wheel_loader,
       true},
      {"E12",
       "rover",
       "Rover on a terrain",
       kPotra,
       "Four driven wheels, rigid suspension loops and an arm on a height field; spook, h = 1/120.",
       {"rover"},
       run_rover},
      {"E12",
       "pawl",
       "Pawl and hole",
       kPotra,
       "A part of 2.3 mm slides over a plate of about fifty coplanar triangles into a hole.",
       {"pawl"},
       run_pawl},
      {"E12",
       "jacks",
       "Pile of jacks",
       kPotra,
       "Eight jacks with sharp bars: corners meet edges and corners.",
       {"jacks"},
       run_jacks,
       true},
  };
}

}  // namespace

const std::vector<Experiment>& all_experiments() {
  static const std::vector<Experiment> list = make_list();
  return list;
}

}  // namespace stiction::experiments
