// Package site has what all HTML pages of the hub share: the layout, the visitor and the account in the header, forms, the sign-in
// and its return to a page, and the concurrent reading of parts.
//
// It has no page of its own. Start with site.go.
package site
