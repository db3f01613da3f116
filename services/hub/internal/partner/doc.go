// Package partner reads the lists of partner stations over HTTP. It connects only to the registered URLs and only to public
// addresses, and follows no redirects. It limits an answer to three seconds and one megabyte. It validates each entry separately,
// so an invalid entry is skipped without affecting others.
package partner
