// Package lspwire is the smallest base protocol of LSP: messages behind Content-Length headers, for the stand-ins and for
// the raw clients that test them. It is not hearth's own client: a stand-in that shared code with what it tests would
// share its faults.
package lspwire
