// Package partner reads the lists of partner stations over HTTP. It connects only to the registered URLs and only to
// public addresses, follows no redirects, and limits time to three seconds and size to one megabyte. Entries are
// validated separately: an invalid entry is dropped without affecting others.
package partner
