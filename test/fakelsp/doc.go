// Fakelsp is a language server on standard input and output that follows a script, for black-box tests.
//
//	fakelsp --script FILE [--journal FILE]
//
// The environment variables FAKELSP_SCRIPT and FAKELSP_JOURNAL stand in for missing flags. The script is that of package
// script; without one everything is done by default: initialize is answered, a line that contains ERROR is published as
// an error, hover shows the word, shutdown and exit end the process.
//
// In the strings of a script these placeholders stand for what the message that fired the rule speaks of: ${uri},
// ${version}, ${text}, ${sha256} (of the text), ${word}, ${id}, ${pid}, ${generation}; and for other spellings of the
// URI: ${uri:percent} (everything but letters, digits and slashes encoded), ${uri:lower} (lower-case hex),
// ${uri:minimal} (only what can't be left out), ${uri:localhost}. A string that is nothing but ${version}, ${id} or ${pid}
// becomes that value itself, with its type.
//
// Rules run beside the reading of further messages unless they are inline, so a script can wait for answers.
package main
