// Package wire is what goes over the daemon's socket: both protocols, and the
// texts that stand for reports in the older one. It knows no actor and opens
// no connection.
package wire
