// Package mailtest is a mail server for tests.
package mailtest
