// Package picture fetches, scales and stores the pictures of operators, so that pages load them from the hub and not from other
// servers.
//
// A picture is made from the avatarUrl of an operator, when the profile form is saved or a visitor requests it, or from an
// upload. Addresses are untrusted: the package connects to public addresses only. It contains no SQL. Start with picture.go.
package picture
