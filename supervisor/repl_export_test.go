package supervisor

import (
	"strings"

	"github.com/seed-f6977891/hearth/actors"
)

// Actor gives a live actor of this kind, nil if there is none.
func (rt *Runtime) Actor(kind string) *actors.Handle {
	for _, h := range rt.sys.Roster().Live() {
		if strings.HasPrefix(h.ID(), kind+"/") {
			return h
		}
	}
	return nil
}
