// Package view has what several audiences share: the JSON forms of calls, markets and movements with their one mapping from and to
// messages of the ledger, and cached pages with copies for the time that a source is unavailable.
//
// It decides nothing about callers. Start with signal.go for forms and with pages.go for caches.
package view
