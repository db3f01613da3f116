// Package account defines the export of the data of an account and its deletion.
package account
