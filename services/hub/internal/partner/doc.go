// Package partner reads what partner stations show. It connects where they have said,
// to public addresses alone, takes no redirect, waits three seconds and reads one
// megabyte. Rows are looked at one by one: what is no good row is left out, and costs
// the others nothing.
package partner
