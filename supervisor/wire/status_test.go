package wire_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

func actor(id, parent, state string) messages.ActorSnapshot {
	return messages.ActorSnapshot{Actor: id, Parent: parent, State: state, Since: ago(time.Minute)}
}

func lean(kind messages.ResourceKind, root string) messages.Key {
	return messages.Key{Kind: kind, Root: root, Language: "lean"}
}

func tree(id messages.TreeID, role messages.Role, key messages.Key, leader int) messages.TreeStatus {
	return messages.TreeStatus{TreeSnapshot: messages.TreeSnapshot{
		ActorSnapshot: actor("sweeper/"+key.Root+string(role)+"#1", "supervisor#1", "Watching"),
		Tree:          id, Role: role, Key: key, Leader: procscan.Identity{PID: leader}, Started: ago(90 * time.Second),
	}}
}

// picture has a resource in each state: /warm, /stale and /new are resident,
// /cold is being started, /old is being ended, and /lost has processes alone.
func picture() messages.Status {
	lsp, repl := messages.LSP, messages.REPL
	sampled := tree(1, messages.RoleLSP, lean(lsp, "/warm"), 10)
	sampled.Members, sampled.RSS = []procscan.Identity{{PID: 12}, {PID: 10}, {PID: 11}}, 3<<20
	failed := tree(3, messages.RoleLSP, lean(lsp, "/old"), 30)
	failed.State, failed.Attempts, failed.Reason = "Backoff", 2, "still there"
	failed.Remaining = []procscan.Identity{{PID: 32}, {PID: 31}}
	worker := tree(4, messages.RoleREPL, lean(repl, "/warm"), 40)
	worker.RSS = 1234 << 20
	return messages.Status{
		At:      now,
		Runtime: messages.RuntimeSnapshot{ActorSnapshot: actor("supervisor#1", "", "Running")},
		Caches: []messages.CacheSnapshot{
			{ActorSnapshot: actor("cache/lsp#2", "supervisor#1", "Open"), Kind: lsp, Limit: 4},
			{ActorSnapshot: actor("cache/repl#3", "supervisor#1", "Open"), Kind: repl, Limit: 1 << 34},
		},
		Entries: []messages.EntrySnapshot{
			{ActorSnapshot: actor("entry/w#4", "cache/lsp#2", "Resident"), Key: lean(lsp, "/warm"), Warm: true},
			{ActorSnapshot: actor("entry/s", "", "Resident"), Key: lean(lsp, "/stale"), Warm: true, Stale: true},
			{ActorSnapshot: actor("entry/n", "", "Resident"), Key: lean(lsp, "/new"), Warm: true},
			{ActorSnapshot: actor("entry/c", "", "Creating"), Key: lean(lsp, "/cold")},
			{ActorSnapshot: actor("entry/o", "", "Closing"), Key: lean(lsp, "/old"), Ending: true},
			{ActorSnapshot: actor("entry/p", "", "Resident"), Key: lean(repl, "/warm"), Warm: true},
		},
		Sessions: []messages.SessionSnapshot{
			{ActorSnapshot: actor("session/w#5", "entry/w#4", "Ready"), Key: lean(lsp, "/warm"), Tree: 1, LastUsed: ago(12345678 * time.Microsecond)},
			{ActorSnapshot: actor("session/s#6", "entry/s", "Ready"), Key: lean(lsp, "/stale"), Active: 2, Waiting: 3, LastUsed: ago(time.Hour)},
			{ActorSnapshot: actor("session/n#7", "entry/n", "Ready"), Key: lean(lsp, "/new")},
			{ActorSnapshot: actor("session/o#8", "entry/o", "Sweeping"), Key: lean(lsp, "/old"), Step: "sweep 2 failed", Reason: "the server exited"},
		},
		Pools: []messages.PoolSnapshot{{
			ActorSnapshot: actor("pool/w#9", "entry/p", "Open"), Key: lean(repl, "/warm"), Mode: "fresh", Capacity: 3, Warm: 1,
			Active: 1, Waiting: 2, LastUsed: ago(time.Second), Restarts: 5,
		}},
		Trees: []messages.TreeStatus{sampled, tree(2, messages.RoleLSP, lean(lsp, "/lost"), 20), failed, worker},
		Events: []messages.Event{
			{At: now, Kind: messages.EventReady, Actor: "session/w#5", Key: lean(lsp, "/warm"), Detail: "gopls v1"},
		},
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

func TestPingIsWrittenToTheByte(t *testing.T) {
	ping := wire.NewPing(77, "aa-bb", 1700000000000000001, ago(1234567*time.Microsecond), now, wire.Config{Idle: 1800, LSPCommand: []string{"lake", "serve"}})
	assert.Equal(t, `{"running":true,"pid":77,"protocol":1,"install_id":"aa-bb","build_generation":1700000000000000001,`+
		`"uptime_seconds":1.235,"config":{"max_projects":0,"idle_seconds":1800.0,"total_repl_workers":0,"repl_workers_per_project":0,`+
		`"repl_project_limit":0,"repl_command":null,"repl_header_command":null,"lsp_command":["lake","serve"],"lsp_timeout":0.0,`+
		`"max_lsp_request_seconds":0.0,"repl_request_timeout":0.0,"max_repl_request_seconds":0.0,"rpc_read_timeout":0.0,`+
		`"max_connections":0,"response_timeout":0.0,"settings":null}}`, asJSON(t, ping))
}

func TestStatusShowsEveryResourceInItsState(t *testing.T) {
	status := wire.NewStatus(wire.Ping{}, picture(), 9, 8)
	assert.Equal(t, `{"limit":4,"resident":[`+
		`{"project_dir":"/new","language":"lean","state":"warm","active":0,"valid":true,"idle_seconds":60.0,"waiting":0,"pids":[],"memory_bytes":0},`+
		`{"project_dir":"/stale","language":"lean","state":"warm","active":2,"valid":false,"idle_seconds":0.0,"waiting":3,"pids":[],"memory_bytes":0},`+
		`{"project_dir":"/warm","language":"lean","state":"warm","active":0,"valid":true,"idle_seconds":12.346,"waiting":0,"pids":[10,11,12],"memory_bytes":3145728}],`+
		`"creating":["/cold"],"retiring":[`+
		`{"project_dir":"/lost","language":"lean","step":"watching","attempts":0,"remaining":[],"reason":""},`+
		`{"project_dir":"/old","language":"lean","step":"sweep 2 failed","attempts":2,"remaining":[31,32],"reason":"the server exited"}]}`,
		asJSON(t, status.LSPProjects))
	assert.Equal(t, `{"limit":17179869184,"resident":[`+
		`{"project_dir":"/warm","language":"lean","state":"warm","active":1,"valid":true,"idle_seconds":0.0,"waiting":2,"pids":[40],"memory_bytes":1293942784}],`+
		`"creating":[],"retiring":[]}`, asJSON(t, status.REPLProjects))
	assert.Equal(t, 9, status.Goroutines)
	assert.Equal(t, 8, status.OpenFiles)
	assert.Equal(t, `[{"at":"2030-01-02T03:04:05Z","kind":"ready","actor":"session/w#5","project_dir":"/warm","language":"lean","detail":"gopls v1"}]`,
		asJSON(t, status.Events))
}

func TestStatusListsEveryTree(t *testing.T) {
	processes := wire.NewStatus(wire.Ping{}, picture(), 0, 0).Processes
	require.Len(t, processes, 4)
	assert.Equal(t, `{"role":"lsp","project_dir":"/warm","leader":10,"pids":[10,11,12],"state":"Watching","age_seconds":90.0,"memory_bytes":3145728,"restarts":0}`,
		asJSON(t, processes[0]))
	assert.Equal(t, 5, processes[3].Restarts, "of its pool")
}

func TestStatusOfNothingHasNoNulls(t *testing.T) {
	status := asJSON(t, wire.NewStatus(wire.Ping{}, messages.Status{}, 0, 0))
	assert.Contains(t, status, `"repl_projects":{"limit":0,"resident":[],"creating":[],"retiring":[]}`)
	assert.Contains(t, status, `"processes":[]`)
	assert.Contains(t, status, `"events":[]`)
}

func TestREPLStatus(t *testing.T) {
	node := wire.Node{PID: 77, TotalWorkers: 4, Capacity: 1, Mode: "fresh"}
	repl := func(root string) messages.Key { return lean(messages.REPL, root) }
	const head = `"daemon_pid":77,"node_total_workers":4,`
	assert.Equal(t, `{"state":"warm","capacity":3,"memory_usage_gb":1.21,"shutdown":false,`+head+
		`"project_dir":"/warm","language":"lean","mode":"fresh","valid":true,"warm_workers":1,"active":1,"waiting":2,"restarts":5,"idle_seconds":0.0,"pids":[40]}`,
		asJSON(t, wire.NewREPLStatus(node, repl("/warm"), picture())))
	assert.Equal(t, `{"state":"cold","capacity":1,"memory_usage_gb":0.0,"shutdown":false,`+head+
		`"project_dir":"/none","language":"lean","mode":"fresh","valid":true,"warm_workers":0,"active":0,"waiting":0,"restarts":0,"idle_seconds":0.0,"pids":[]}`,
		asJSON(t, wire.NewREPLStatus(node, repl("/none"), picture())))
}

func TestREPLStatusShowsAStaleOrEndingPoolAsItIs(t *testing.T) {
	key := lean(messages.REPL, "/warm")
	for name, c := range map[string]struct {
		entry           messages.EntrySnapshot
		state           string
		shutdown, valid bool
	}{
		"warming": {messages.EntrySnapshot{}, wire.StateWarming, false, true},
		"stale":   {messages.EntrySnapshot{Warm: true, Stale: true}, wire.StateWarm, false, false},
		"ending":  {messages.EntrySnapshot{Ending: true}, wire.StateRetiring, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := picture()
			c.entry.Key, c.entry.Actor = key, "entry/p"
			p.Entries = []messages.EntrySnapshot{c.entry}
			status := wire.NewREPLStatus(wire.Node{}, key, p)
			assert.Equal(t, c.state, status.State)
			assert.Equal(t, c.shutdown, status.Shutdown)
			assert.Equal(t, c.valid, status.Valid)
			assert.Equal(t, 3, status.Capacity)
		})
	}
}

func TestTreeHangsEveryActorBelowItsParent(t *testing.T) {
	var render func(actors []wire.Actor, indent string) string
	render = func(actors []wire.Actor, indent string) (text string) {
		for _, a := range actors {
			text += indent + a.Actor + " " + a.State
			if a.Process != nil {
				text += " " + asJSON(t, a.Process.PIDs)
			}
			text += "\n" + render(a.Children, indent+"  ")
		}
		return text
	}
	assert.Equal(t, `supervisor#1 Running
  cache/lsp#2 Open
    entry/w#4 Resident
      session/w#5 Ready [10,11,12]
  cache/repl#3 Open
  sweeper//lostlsp#1 Watching [20]
  sweeper//oldlsp#1 Backoff [30]
  sweeper//warmlsp#1 Watching [10,11,12]
  sweeper//warmrepl#1 Watching [40]
entry/c Creating
entry/n Resident
  session/n#7 Ready
entry/o Closing
  session/o#8 Sweeping
entry/s Resident
  session/s#6 Ready
entry/p Resident
  pool/w#9 Open
`, render(wire.NewTree(picture()), ""))
	assert.Equal(t, `[]`, asJSON(t, wire.NewTree(messages.Status{})))
}

func TestAnEndingGenerationNeverHidesItsSuccessor(t *testing.T) {
	key := lean(messages.REPL, "/warm")
	old := messages.EntrySnapshot{ActorSnapshot: actor("entry/p#1", "", "Closing"), Key: key, Ending: true}
	successor := messages.EntrySnapshot{ActorSnapshot: actor("entry/p#2", "", "Creating"), Key: key}
	for _, entries := range [][]messages.EntrySnapshot{{old, successor}, {successor, old}} {
		p := picture()
		p.Entries = entries
		assert.Equal(t, wire.StateWarming, wire.NewREPLStatus(wire.Node{}, key, p).State)
	}
}

func TestAPingIsWrittenByHandAsEncodingJSONWould(t *testing.T) {
	config := wire.Config{LSPCommand: []string{"lake", "serve"}, Settings: map[string]string{"idle": "<30m>"}}
	encodedConfig, err := json.Marshal(config)
	require.NoError(t, err)
	ping := wire.NewPing(7, "0123456789-abcdef0123", 1<<60, time.Unix(1, 0), time.Unix(3, 250e6), config)
	for _, stopping := range []bool{false, true} {
		ping.Stopping = stopping
		want, err := json.Marshal(ping)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(ping.Encode(encodedConfig)))
		for _, r := range []wire.Request{{Protocol: wire.Version1, ID: []byte(`"a"`)}, {Protocol: wire.JSONRPC, ID: []byte("7")}} {
			assert.Equal(t, string(r.Reply(json.RawMessage(want))), string(r.Reply(ping.Encode(encodedConfig))))
		}
	}
	notification := wire.Request{Protocol: wire.JSONRPC}
	assert.Nil(t, notification.Reply(ping.Encode(encodedConfig)))
	huge := wire.Request{Protocol: wire.Version1, ID: []byte("7")}.Reply(make(wire.Encoded, wire.MaxFrame))
	assert.Contains(t, string(huge), "response exceeds the message limit")
}

func TestAStatusIsWrittenAsEncodingJSONWould(t *testing.T) {
	config := wire.Config{Settings: map[string]string{"idle": "30m"}}
	encodedConfig, err := json.Marshal(config)
	require.NoError(t, err)
	status := wire.NewStatus(wire.NewPing(7, "a-b", 3, ago(time.Hour), now, config), picture(), 9, 8)
	want, err := json.Marshal(status)
	require.NoError(t, err)
	got, err := status.Encode(encodedConfig)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
}

func TestAStatusHasTheLastEventsAlone(t *testing.T) {
	events := make([]messages.Event, 40)
	for i := range events {
		events[i].Actor = fmt.Sprint(i)
	}
	shown := wire.NewStatus(wire.Ping{}, messages.Status{Events: events}, 0, 0).Events
	require.Len(t, shown, 32)
	assert.Equal(t, "39", shown[31].Actor)
}

func TestStatusSaysHowTheRuntimeIsKept(t *testing.T) {
	status := wire.NewStatus(wire.Ping{}, messages.Status{Runtime: messages.RuntimeSnapshot{
		Guard: "watching (process 7)", Leftovers: "sweeping", Limits: []string{"no control groups"},
		Adopted: []procscan.Info{{Identity: procscan.Identity{PID: 9}, Comm: "sleep"}}}}, 0, 0)
	assert.Equal(t, wire.Keeping{Guard: "watching (process 7)", Leftovers: "sweeping", Limits: []string{"no control groups"},
		Adopted: []wire.Orphan{{PID: 9, Command: "sleep"}}}, status.Keeping)
}
