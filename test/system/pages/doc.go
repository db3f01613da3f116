// Package pages checks the HTML pages of the hub in a browser: their contents, links and forms, and their layout on a
// phone and on a desktop.
package pages
