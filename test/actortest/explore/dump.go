package explore

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// opaque are the kit's fields that no future depends on: tables, and what only grows.
var opaque = map[string]bool{
	"Machine.legal": true, "Machine.publish": true, "Machine.epoch": true, "Machine.armed": true, "Machine.dropped": true,
}

// State is what a World's state is made of.
type State struct {
	Actor any // its behaviour
	World any // what its environment remembers of the past
	Owed  []string
	// Opaque are fields of the actor that its future doesn't depend on: "type.field".
	Opaque []string
}

// Dump writes a state so that two states look the same exactly where they have the same
// future: unexported fields too, times as distances from now, actors and trees by the
// order in which they turn up, and functions and channels not at all.
func Dump(state State) string {
	d := &dumper{now: time.Now(), open: map[unsafe.Pointer]bool{}, opaque: maps.Clone(opaque)}
	for _, field := range state.Opaque {
		d.opaque[field] = true
	}
	for _, part := range []any{state.Actor, state.World, state.Owed} {
		if part != nil {
			d.copied(reflect.ValueOf(part))
		}
		d.write("\n")
	}
	return renumber(string(d.text))
}

type dumper struct {
	now    time.Time
	text   []byte
	open   map[unsafe.Pointer]bool // pointers that are being written
	opaque map[string]bool
}

// generation is the part of an actor's id that differs from one way to a state to
// another.
var generation = regexp.MustCompile(`#\d+`)

func renumber(text string) string {
	numbers := map[string]string{}
	return generation.ReplaceAllStringFunc(text, func(found string) string {
		if numbers[found] == "" {
			numbers[found] = fmt.Sprint("#", len(numbers)+1)
		}
		return numbers[found]
	})
}

func (d *dumper) write(format string, args ...any) { d.text = fmt.Appendf(d.text, format, args...) }

// known writes what is not to be looked into.
func (d *dumper) known(v reflect.Value) bool {
	switch known := v.Addr().Interface().(type) {
	case *time.Time:
		if known.IsZero() {
			d.write("never")
		} else {
			d.write("%v", known.Sub(d.now))
		}
	case **time.Timer:
		d.write("timer %t", *known != nil)
	case *map[uint64]*time.Timer:
		d.write("%d timers", len(*known))
	case **actors.Self:
		d.write("%d workers", (*known).Workers())
	case **actors.Handle:
		if *known != nil {
			d.write("%s", (*known).ID())
		}
	case *messages.Ref:
		if *known != nil {
			d.write("%s", (*known).ID)
		}
	case *messages.TreeID:
		d.write("tree #%d", *known)
	case *sync.Mutex, *sync.RWMutex, *sync.Once, **slog.Logger, **actors.System, *reflect.Type:
	default:
		return d.capable(v)
	}
	return true
}

// capable writes what is known by what it can do.
func (d *dumper) capable(v reflect.Value) bool {
	if k := v.Kind(); k != reflect.Interface && k != reflect.Pointer || v.IsNil() {
		return false
	}
	switch known := v.Interface().(type) {
	case context.Context:
		d.write("context %v", known.Err())
	case error:
		d.write("%q", known.Error())
	default:
		return false
	}
	return true
}

// value writes v, which is addressable and was not reached by an unexported field.
func (d *dumper) value(v reflect.Value) {
	if d.known(v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		d.pointer(v)
	case reflect.Interface:
		if !v.IsNil() {
			d.copied(v.Elem())
		}
	case reflect.Struct:
		d.fields(v)
	case reflect.Map:
		d.entries(v)
	case reflect.Slice, reflect.Array:
		d.write("[")
		for i := range v.Len() {
			d.element(v.Index(i))
			d.write(" ")
		}
		d.write("]")
	case reflect.Func, reflect.UnsafePointer:
		d.write("%t", !v.IsNil())
	case reflect.Chan:
		d.write("%t/%d", !v.IsNil(), v.Len())
	case reflect.String:
		d.write("%s", strconv.Quote(v.String()))
	default:
		d.write("%v", v)
	}
}

func (d *dumper) element(v reflect.Value) {
	if v.CanAddr() {
		d.value(v)
	} else {
		d.copied(v)
	}
}

func (d *dumper) copied(v reflect.Value) {
	box := reflect.New(v.Type()).Elem()
	box.Set(v)
	d.value(box)
}

func (d *dumper) pointer(v reflect.Value) {
	at := v.UnsafePointer()
	switch {
	case v.IsNil():
		d.write("none")
	case d.open[at]:
		d.write("above")
	default:
		d.open[at] = true
		d.value(v.Elem())
		delete(d.open, at)
	}
}

func (d *dumper) fields(v reflect.Value) {
	name, _, _ := strings.Cut(v.Type().Name(), "[")
	d.write("%s{", name)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if d.opaque[name+"."+field.Name] {
			continue
		}
		at := v.Field(i)
		d.write("%s:", field.Name)
		d.value(reflect.NewAt(at.Type(), unsafe.Pointer(at.UnsafeAddr())).Elem())
		d.write(" ")
	}
	d.write("}")
}

func (d *dumper) entries(v reflect.Value) {
	var entries []string
	whole := d.text
	for _, key := range v.MapKeys() {
		d.text = nil
		d.copied(key)
		d.write(":")
		d.copied(v.MapIndex(key))
		entries = append(entries, string(d.text))
	}
	d.text = whole
	slices.Sort(entries)
	d.write("map%v", entries)
}
