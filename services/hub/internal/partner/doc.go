// Package partner reads the lists of partner stations over HTTP. It connects only to the registered URLs and only to public
// addresses, and follows no redirects. A response may take three seconds and have one megabyte. The package validates each entry
// separately, so an invalid entry is skipped without affecting others.
package partner
