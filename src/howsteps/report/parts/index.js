// Search in the page over many jobs: all words, in any order, in names, steps and titles of videos.

const field = document.getElementById("search");
const jobs = [...document.querySelectorAll(".jobs > li")];

field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const job of jobs) {
    job.hidden = !words.every((word) => job.dataset.text.includes(word));
    for (const step of job.querySelectorAll("ol li")) {
      const isFound = words.some((word) => step.textContent.toLowerCase().includes(word));
      step.classList.toggle("found", isFound);
    }
  }
  const found = jobs.filter((job) => !job.hidden).length;
  document.getElementById("news").textContent = words.length ? `${found} of ${jobs.length} jobs` : "";
  document.querySelector(".empty").hidden = found > 0;
});

document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== field) {
    event.preventDefault();
    field.focus();
  }
});
