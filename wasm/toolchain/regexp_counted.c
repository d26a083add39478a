// libregexp with its count of steps to be read: the library counts them in a context of its own and says only when ten
// thousand have gone by.
#include "regexp_counted.h"

#include "libregexp.c"

enum { FREE_RUN = 64, FREE_CAPTURES = 16 };

// Bytes of the instruction at `pc`.
static size_t os_regexp__size(const uint8_t *pc) {
  size_t ranges = *pc == REOP_range ? 4 : *pc == REOP_range32 ? 8 : 0;
  return reopcode_info[*pc].size + (ranges > 0 ? ranges * get_u16(pc + 1) : 0);
}

uint32_t os_regexp_step_cost(const uint8_t *code, int *text) {
  const uint8_t *pc = code + RE_HEADER_LEN, *end = pc + get_u32(code + RE_HEADER_BYTECODE_LEN);
  uint32_t run = 0, longest = 0;
  *text = 0;
  for (; pc < end; pc += os_regexp__size(pc)) {
    int step = *pc == REOP_goto || *pc == REOP_simple_greedy_quant;
    *text |= *pc == REOP_back_reference || *pc == REOP_backward_back_reference;
    run = step ? 0 : run + 1;
    if (run > longest) longest = run;
  }
  return 1 + code[RE_HEADER_CAPTURE_COUNT] / FREE_CAPTURES + longest / FREE_RUN;
}

int os_regexp_exec(uint8_t **capture, const uint8_t *code, const void *text, size_t len, int wide,
                   void *opaque, int *steps) {
  const uint8_t *start = text;
  int captures = code[RE_HEADER_CAPTURE_COUNT], stack_size = code[RE_HEADER_STACK_SIZE];
  StackInt stack[256];
  REExecContext context = {.cbuf = start,
                           .cbuf_end = start + (len << wide),
                           .cbuf_type = wide ? 2 : 0,
                           .capture_count = captures,
                           .stack_size_max = stack_size,
                           .is_unicode = TRUE,
                           .interrupt_counter = *steps,
                           .opaque = opaque};
  context.state_size =
      sizeof(REExecState) + (size_t)captures * 2 * sizeof *capture + (size_t)stack_size * sizeof *stack;
  for (int i = 0; i < captures * 2; i++) capture[i] = NULL;
  intptr_t answer = lre_exec_backtrack(&context, capture, stack, 0, code + RE_HEADER_LEN, start, FALSE);
  lre_realloc(opaque, context.state_stack, 0);
  *steps = answer == LRE_RET_TIMEOUT ? 0 : context.interrupt_counter;
  return (int)answer;
}
