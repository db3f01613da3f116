// Package pages serves the HTML pages of the hub, such as receipts, markets, profiles, the live feed and the developer page.
// Pages are rendered on the server. Some pages have a script, which adds new data to the rendered page.
//
// The hub serves all scripts itself, including the HLS player library. External text is escaped by html/template,
// and the scripts insert it as text.
package pages
