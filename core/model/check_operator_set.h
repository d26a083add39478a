#ifndef OPSPEC_CHECK_OPERATOR_SET_H
#define OPSPEC_CHECK_OPERATOR_SET_H

#include "checking.h"

// Of a document that is no operator set, nothing.
os_status os_check_operator_set(os_checking *self);

#endif
