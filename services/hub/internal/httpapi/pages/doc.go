// Package pages is the HTML of the hub: receipts, markets, people, the feed, what they
// let programs do, and the developer page. Pages are rendered on the server and show only
// what the JSON routes show. The feed and the pages of live broadcasts carry scripts, which
// are files of ours (and one player of another's) and go on behind what the server rendered.
// Everything from outside is escaped by html/template, and becomes text in the scripts.
package pages
