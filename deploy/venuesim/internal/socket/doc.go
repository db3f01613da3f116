// Package socket is the websocket of a simulated venue: it takes connections,
// makes them fail as the venue's switch says, and cuts those that do not read.
// What is said on a connection is the venue's.
package socket
