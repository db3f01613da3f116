// Package guide renders the pages of docs/ as a static site: one folder without subfolders, whose files load nothing from other
// hosts. Only the search page needs a script. Files link to each other by name, so the site works on any host and in any
// folder.
//
// The renderer omits HTML in the Markdown. New returns an error that lists every link without a target and every anchor without
// a heading. The package reads only the given files and serves no HTTP.
package guide
