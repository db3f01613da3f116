// Renders the API reference on /docs with Swagger UI. It loads only the API description of this host; sending requests and the
// external validator are disabled.
const root = document.getElementById("reference");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const { theme } = document.documentElement.dataset;
const applyTheme = () => document.documentElement.classList.toggle("dark-mode", theme ? theme === "dark" : dark.matches);
dark.addEventListener("change", applyTheme);
applyTheme();
window.SwaggerUIBundle({
  url: root.dataset.document,
  domNode: root,
  presets: [window.SwaggerUIBundle.presets.apis],
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  supportedSubmitMethods: [],
  onComplete: () => root.setAttribute("data-rendered", ""),
  onFailure: () => document.getElementById("reference-unavailable").removeAttribute("hidden"),
});
