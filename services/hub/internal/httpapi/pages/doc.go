// Package pages serves the HTML pages of the hub, such as receipts, markets, profiles, the live feed and the developer page.
// Pages are rendered on the server and show only data that the JSON routes also have.
//
// The feed and the live pages have scripts, which add new data to the rendered page. All scripts are part of the repository,
// including the HLS player library. External text is escaped by html/template, and the scripts insert it as text.
package pages
