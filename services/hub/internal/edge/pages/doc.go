// Package pages is the HTML of the hub: receipts, markets, people, what they let
// programs do, and the developer page. Pages are rendered on the server, carry no
// script, and show only what the JSON routes show. Everything from outside is escaped
// by html/template.
package pages
