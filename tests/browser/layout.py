"""Layout and contrast of everything in a page that privhp made: a report, or the cards of a notebook."""

from browser.chromium import Page

MIN_CONTRAST = 4.5
"""Contrast of text that the accessibility guidelines (WCAG AA) require."""

SCRIPT = """
(() => {
  const shown = element => element.getClientRects().length && getComputedStyle(element).visibility !== "hidden";
  const texts = [...document.querySelectorAll(".privhp *")].filter(element =>
    shown(element) && !element.closest("svg") &&
    [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim()));
  const solid = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!colour.startsWith("rgba") || !colour.endsWith(" 0)")) return colour;
    }
    return getComputedStyle(document.documentElement).backgroundColor;
  };
  const light = colour => {
    const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map(part => part / 255)
      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = element => {
    const [low, high] = [getComputedStyle(element).color, solid(element)].map(light).sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const overlaps = [];
  for (const row of document.querySelectorAll(".privhp :is(.ticks, .side, .facts > div)")) {
    const boxes = [...row.children].filter(shown).map(child => child.getBoundingClientRect());
    boxes.forEach((one, place) => boxes.slice(place + 1).forEach(other => {
      if (one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom)
        overlaps.push(row.textContent);
    }));
  }
  const cut = [...document.querySelectorAll(".privhp .side span")].filter(element =>
    element.getBoundingClientRect().left < element.closest("figure").getBoundingClientRect().left - 0.5);
  const outside = texts.filter(element => !element.closest(".wide")).filter(element => {
    const box = element.getBoundingClientRect();
    return box.left < -0.5 || box.right > innerWidth + 0.5;
  });
  return {
    width: document.documentElement.scrollWidth,
    small: Math.min(...texts.map(element => parseFloat(getComputedStyle(element).fontSize))),
    contrast: Math.min(...texts.map(contrast)),
    outside: outside.map(element => element.textContent),
    cut: cut.map(element => element.textContent),
    overlaps,
    images: [...document.querySelectorAll(".privhp img")].map(image => image.naturalWidth),
    figures: [...document.querySelectorAll(".privhp figure")].map(figure => figure.getBoundingClientRect().height),
    paper: getComputedStyle(document.querySelector(".privhp")).backgroundColor,
  };
})()
"""


def check_layout(page: Page, *, width: int, dark: bool) -> None:
    """Check that all text is readable and inside the window, and that nothing overlaps."""
    layout = page.run(SCRIPT)
    assert layout["width"] == width
    assert layout["outside"] == []
    assert layout["cut"] == []
    assert layout["overlaps"] == []
    assert layout["small"] >= 12
    assert layout["contrast"] >= MIN_CONTRAST
    assert all(pixels > 0 for pixels in layout["images"])
    assert all(height > 60 for height in layout["figures"])
    assert layout["figures"]
    levels = [int(part) for part in layout["paper"].removeprefix("rgb(").rstrip(")").split(",")]
    assert (max(levels) < 64) if dark else (min(levels) > 192)
