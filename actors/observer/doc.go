// Package observer is the actor that knows what every other actor last said of
// itself. It answers a status query from its maps at once: no resource is asked,
// pinned, created or waited for, so that neither a hung sweep nor a stopped server
// can hold a status up, and no status can hold up a close.
//
// A tour: observer.go is the actor: what it keeps and how it changes. picture.go
// makes the answer to a query. ring.go keeps the last events.
//
// It has no states and holds no operation. After its restart it knows nothing; the
// Supervisor then tells every live actor to publish again, and memory comes back
// with the next sample. The events that it had are lost with it: they are for
// people, and nothing depends on them.
package observer
