package wire

import "github.com/seed-f6977891/hearth/messages"

// REPLStatus is the result of repl.status. The first six are the predecessor's.
type REPLStatus struct {
	State            string  `json:"state"`
	Capacity         int     `json:"capacity"` // workers
	Memory           Decimal `json:"memory_usage_gb"`
	Shutdown         bool    `json:"shutdown"` // it takes no more calls
	DaemonPID        int     `json:"daemon_pid"`
	NodeTotalWorkers int     `json:"node_total_workers"`

	ProjectDir string  `json:"project_dir"`
	Language   string  `json:"language"`
	Mode       string  `json:"mode"`
	Valid      bool    `json:"valid"`
	Warm       int     `json:"warm_workers"` // in reserve
	Active     int     `json:"active"`
	Waiting    int     `json:"waiting"`
	Restarts   int     `json:"restarts"`
	Idle       Decimal `json:"idle_seconds"`
	PIDs       []int   `json:"pids"`
	Reason     string  `json:"reason,omitempty"`
}

// Node is what a repl.status says of the whole daemon, and of a project that has no
// pool.
type Node struct {
	PID          int
	TotalWorkers int
	Capacity     int // of a pool, once there is one
	Mode         string
}

// NewREPLStatus makes the result of repl.status from the Observer's picture. It
// shows a stale or ending pool as it is.
func NewREPLStatus(node Node, key messages.Key, picture messages.Status) REPLStatus {
	v := newView(picture)
	state, trees := v.state(key), v.trees[key]
	status := REPLStatus{
		State: state, Capacity: node.Capacity, Memory: gibibytes(memory(trees)),
		Shutdown: state == StateRetiring, DaemonPID: node.PID, NodeTotalWorkers: node.TotalWorkers,
		ProjectDir: key.Root, Language: key.Language, Mode: node.Mode,
		Valid: !v.entries[key].Stale, PIDs: pids(trees),
	}
	for _, pool := range picture.Pools {
		if pool.Key != key || pool.Parent != v.entries[key].Actor {
			continue // another project's, or of a generation that is ending
		}
		status.Capacity, status.Mode, status.Warm = pool.Capacity, pool.Mode, pool.Warm
		status.Active, status.Waiting, status.Restarts = pool.Active, pool.Waiting, pool.Restarts
		status.Idle, status.Reason = v.idle(v.resource(key)), pool.Reason
	}
	return status
}
