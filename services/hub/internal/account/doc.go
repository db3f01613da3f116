// Package account defines the export of the data of an account.
package account
