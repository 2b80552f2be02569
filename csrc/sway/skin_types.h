// What the vertices of one branch need, and the job over the vertices.
#pragma once

#include "windgrove/skin.h"

typedef struct wgi_skin_branch {
    double rest[3];    ///< pivot at rest
    double carried[3]; ///< pivot as the ancestors carry it
    double carry[4];   ///< rotation of the ancestors; double, so that no error grows along a chain
    float rotation[3]; ///< own rotation vector
    float inverse_length;
} wgi_skin_branch;

typedef struct wgi_skin_job {
    const wgi_skin_branch* branches;
    const wg_skin_mesh* mesh;
    const wg_skin_output* output;
} wgi_skin_job;
