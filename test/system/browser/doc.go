// Package browser drives a headless Chromium and records what its pages violate: calls of the function canary, violations of
// the content security policy, exceptions and dialogs.
package browser
