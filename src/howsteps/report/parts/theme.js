// Light or dark theme: the system's setting, until the user chooses.

const THEME = "howsteps-theme";

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // A browser may refuse storage to a page from disk; then the choice lasts for one visit.
  }
}

function savedTheme() {
  try {
    return localStorage.getItem(THEME);
  } catch {
    return null;
  }
}

function switchTheme() {
  const systemIsDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const current = document.documentElement.dataset.theme ?? (systemIsDark ? "dark" : "light");
  setTheme(current === "dark" ? "light" : "dark");
}

if (["light", "dark"].includes(savedTheme())) setTheme(savedTheme());
