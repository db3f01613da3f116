// Draws the contract on /docs. The reader is a library as its makers ship it; it asks
// this host alone, sends nothing on behalf of the visitor, and names no validator.
const place = document.getElementById("reference");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const dress = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", dress);
dress();
window.SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  presets: [window.SwaggerUIBundle.presets.apis],
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  supportedSubmitMethods: [],
  onComplete: () => place.setAttribute("data-drawn", ""),
  onFailure: () => document.getElementById("reference-away").removeAttribute("hidden"),
});
