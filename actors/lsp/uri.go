package lsp

import (
	"net/url"
	"path/filepath"
	"strings"
)

// PathToURI gives the file URI of an absolute path, with everything escaped that a
// path segment may not hold (space, #, ?, %, and all that isn't ASCII).
func PathToURI(path string) string {
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// URIToPath gives the path that a file URI names, cleaned, and false for any other
// scheme or a remote host. Servers spell the same path in many ways (more or fewer
// characters escaped, lower-case hex digits, a host of localhost), so paths are
// compared, never URIs. A % that begins no escape, # and ? stand for themselves: only
// a server that forgot to escape them sends them.
func URIToPath(uri string) (string, bool) {
	scheme, rest, found := strings.Cut(uri, ":")
	if !found || !strings.EqualFold(scheme, "file") {
		return "", false
	}
	if after, found := strings.CutPrefix(rest, "//"); found {
		host, path, _ := strings.Cut(after, "/")
		if host != "" && !strings.EqualFold(host, "localhost") {
			return "", false
		}
		rest = "/" + path
	}
	if !strings.HasPrefix(rest, "/") {
		return "", false
	}
	return filepath.Clean(unescape(rest)), true
}

// fileKey is what a URI is compared by: the path that it names, or itself where it
// names none.
func fileKey(uri string) string {
	if path, ok := URIToPath(uri); ok {
		return path
	}
	return uri
}

func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if one, err := url.PathUnescape(s[i : i+3]); err == nil {
				b.WriteString(one)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
