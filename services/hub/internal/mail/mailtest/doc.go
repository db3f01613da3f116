// Package mailtest provides a mail server for tests.
package mailtest
