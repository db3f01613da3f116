// Package download reads files at addresses that operators enter. The addresses are untrusted: it connects by https to public
// addresses only. Start with download.go.
package download
