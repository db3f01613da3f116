// Package view has code that several handler packages share: JSON models of calls, markets and movements, labels of
// outcomes and points, and caches of responses with fallback copies.
//
// It does not check callers. Start with signal.go for the models and with caches.go for the caches.
package view
