"""Definitions of words that do not exist, four for each of eight kinds, in the form of topic 15's dictionary.

Written for this course, and easy for a reader. No model has read them.
"""

from __future__ import annotations

DEFINITIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "plant": (
        ("tarrowleaf", "a tall herb with narrow leaves and yellow flowers"),
        ("blenwort", "a small shrub of dry hills with edible berries"),
        ("quillfern", "a fern with long fronds that grows on wet rocks"),
        ("marlock", "an evergreen tree with smooth bark and white blossoms"),
    ),
    "animal": (
        ("drossel", "a small brown bird that nests in reeds"),
        ("humbrat", "a burrowing rodent with a long tail"),
        ("spinefin", "a marine fish with sharp spines and a flat body"),
        ("gorvine", "a large hoofed mammal of northern forests"),
    ),
    "food": (
        ("brillade", "a soup of beans and onions with cream"),
        ("tomberry cake", "a sweet cake made with fruit and nuts"),
        ("scallet", "a thin slice of meat that is fried in butter"),
        ("morrel cheese", "a soft white cheese made from the milk of sheep"),
    ),
    "person": (
        ("glimmerist", "someone who makes and sells lamps"),
        ("harrowman", "a worker who tends fields in the spring"),
        ("quandler", "a person who argues about everything"),
        ("stormwright", "an expert who studies the weather"),
    ),
    "act": (
        ("frelling", "the act of folding cloth"),
        ("overcasting", "the act of throwing something too far"),
        ("brindlement", "the action of mixing two colors"),
        ("dewarding", "the act of taking a prize away from someone"),
    ),
    "made thing": (
        ("clampet", "a tool for holding pieces of wood together"),
        ("wheelbarge", "a boat that is moved by a large wheel"),
        ("dripcan", "a container with a narrow spout for oil"),
        ("smockle", "a loose garment with wide sleeves"),
    ),
    "place": (
        ("Port Velling", "a city in southern England on the coast"),
        ("Lake Morrow", "a lake in the mountains of northern Italy"),
        ("Tarsk", "a town in western Russia on a river"),
        ("Isle of Brenn", "an island in the Pacific to the east of Australia"),
    ),
    "feeling": (
        ("glumness", "a feeling of sadness without a reason"),
        ("thrillow", "a sudden feeling of great joy"),
        ("wistery", "a sad longing for something in the past"),
        ("dreadle", "a feeling of fear about what will happen"),
    ),
}
"""Pairs of a word and its definition, by kind."""
