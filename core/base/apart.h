#ifndef OPSPEC_APART_H
#define OPSPEC_APART_H

// A function that is not made part of the one that calls it. Engines compile a function when it is first called and again,
// optimized, when it is hot: a large one with a loop that a start runs a few hundred times keeps them busy for longer than
// the start takes, most of it with code that is seldom reached. So the steps of such loops, and what is seldom called, stay
// functions of their own.
#define OS_APART __attribute__((noinline))

#endif
