// Package partner reads the lists of partner stations over HTTP. It connects only to the registered URLs and only to public
// addresses, and follows no redirects. A response may take at most three seconds and have at most one megabyte. The package
// validates each entry separately, so an invalid entry is skipped without affecting others.
package partner
