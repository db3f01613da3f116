// Package guide renders the pages of docs/ as a static site: one flat folder of files that load nothing from other hosts.
// Only the search page needs a script. Files link to each other by name, so the site works on any host and in any folder.
//
// HTML in the Markdown is left out. New fails if a link has no target or an anchor has no heading, and lists all of them.
// The package reads the given files only; it serves no HTTP.
package guide
