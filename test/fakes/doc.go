// Package fakes has in-memory stand-ins for what lies outside the actors: a machine
// with processes, groups and a process table, and a language server. They live inside testing/synctest
// bubbles, where no real process can.
package fakes
