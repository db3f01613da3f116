// Package pages is the HTML of the hub: receipts, markets, people, the feed, what they
// let programs do, and the developer page. Pages are rendered on the server and show only
// what the JSON routes show. None carries a script but the feed, whose script is a file
// of ours and goes on behind what the server rendered. Everything from outside is escaped
// by html/template.
package pages
