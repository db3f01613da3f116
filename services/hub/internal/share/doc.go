// Package share is about what is passed on: the short links of calls, markets and
// operators. The store would take tapes as well; they get links with clips.
package share
