// Package watch defines watches: markets that users marked to see them in their lists and to be notified of them.
package watch
