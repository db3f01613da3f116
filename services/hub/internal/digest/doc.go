// Package digest sends the letter about one day, once. It does not use HTTP, mail or storage itself.
package digest
