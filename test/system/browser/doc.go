// Package browser drives a headless Chromium through pages of a system.
//
// Open returns a tab. It records calls of the function canary, violations of the content security policy, exceptions,
// dialogs and console errors, which RequireNoProblems reports. A package that uses it must end with stack.Main.
package browser
