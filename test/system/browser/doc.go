// Package browser drives one headless Chromium and hears what it complains of: a canary
// that was called, a policy that was broken, a script that failed.
package browser
