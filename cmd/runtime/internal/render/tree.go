package render

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// Tree gives the supervision tree, a line for each actor.
func Tree(top []wire.Actor) string {
	var text strings.Builder
	for _, actor := range top {
		branch(&text, actor, "", "")
	}
	return text.String()
}

// branch writes an actor and what is below it. first begins its own line, rest those
// that follow.
func branch(text *strings.Builder, actor wire.Actor, first, rest string) {
	fmt.Fprintln(text, cut(first+actorText(actor), columnsMost))
	for i, child := range actor.Children {
		if i == len(actor.Children)-1 {
			branch(text, child, rest+"└─ ", rest+"   ")
		} else {
			branch(text, child, rest+"├─ ", rest+"│  ")
		}
	}
}

func actorText(a wire.Actor) string {
	text := fmt.Sprintf("%s %s %s", a.Actor, a.State, Age(float64(a.Since)))
	if a.ProjectDir != "" {
		text += fmt.Sprintf(" (%s in %s)", a.Language, filepath.Base(a.ProjectDir))
	}
	if p := a.Process; p != nil {
		text += fmt.Sprintf(": %s %d, up %s, %s", p.Role, p.Leader, Age(float64(p.Age)), processesText(p.PIDs, p.Memory))
	}
	return text
}
