// Package browser opens pages of a system in a headless Chromium.
//
// Open returns a tab. The tab records problems: calls of the function canary, violations of the content security policy,
// exceptions, dialogs, and console errors and warnings. RequireNoProblems fails the test if there are any. A test binary that
// uses this package must end with stack.Main.
package browser
