// Package replicas checks what two processes of each service share through Redis: answers, limits of IP addresses, and limits of
// open connections.
package replicas
