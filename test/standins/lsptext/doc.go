// Package lsptext is what a stand-in needs to know about text in LSP: positions in UTF-16 units, changes, words and URIs.
package lsptext
