// Package pages tests the HTML pages of the hub in a browser: what they show, where their links and forms lead, and that
// people can read them on a phone and on a desktop.
package pages
